"""Rules that all tales share: openings, habits, speech, travel, feelings, endings and morals.

Every tale has the hero as {h} and the hero's home as {p}.
"""

RULES = {
    "when": [
        "Once upon a time", "Once upon a time", "Once upon a time", "Long ago", "A long time ago", "Many years ago", "Once",
        "In the old days", "In a land far away", "Not so long ago", "Long, long ago",
    ],
    "open": [
        "{@when}, there [was|lived] {h.a} named {h}. {^h.he} lived {p.in}[| with {h.his} family| all alone|, far from the "
        "nearest road]. {@habit}",
        "{@when}, {h.a} named {h} lived {p.in}. {@habit}",
        "{@when}, {h.a} lived {p.in}. {^h.his} name was {h}. {@habit}",
        "{@when}, {p.in}, there lived {h.a} named {h}. {@habit}",
        "{h} was {h.a} who lived {p.in}. {@habit}",
        "There was once {h.a} [called|named] {h}, who lived {p.in}. {@habit}",
        "{^p.in}, there lived {h.a}. {^h.his} name was {h}. {@habit}",
        "{@when}, a {h.kind} named {h} [lived|had a home] {p.in}. {^h.he} was very {h.trait}.",
    ],
    "habit": [
        "{^h.he} loved to {h.hobby}[| every day| in the morning| when the sun was out| before supper].",
        "Every [day|morning|evening], {h.he} liked to {h.hobby}.",
        "{h} was very {h.trait}, and [everyone knew it|all the neighbours liked {h.him} for it|people often asked {h.him} for help].",
        "Nothing made {h.him} happier than {h.doing}.",
        "Most of all, {h.he} liked {h.doing}.",
        "[People said|The neighbours said|Everyone said] that there was no one as {h.trait} as {h}.",
        "",
    ],
    "oneday": [
        "One [sunny|rainy|cold|bright|windy|quiet|warm|grey|fine] [morning|day|afternoon|evening],",
        "One day,", "One morning,", "One evening,", "One day in [spring|summer|autumn|winter],", "Then, one day,",
        "On the first day of [spring|summer|autumn|winter],",
    ],
    "later": [
        "After a while,", "A little later,", "Soon,", "After some time,", "Before long,", "A few minutes later,",
        "When the sun was high,", "In the afternoon,",
    ],
    "nextday": ["The next day,", "The next morning,", "Early the next morning,", "At sunrise,", "When morning came,"],
    "suddenly": ["Suddenly,", "All at once,", "Just then,", "At that moment,", "Then, without warning,"],
    "finally": ["At last,", "Finally,", "In the end,", "After a long time,"],
    "atlast": ["at last", "finally", "in the end", "after a long time"],
    "sad": [
        "{h} was very sad.", "{h} felt like crying.", "{^h.his} heart was heavy.", "{h} sat down and sighed.",
        "A tear ran down {h.his} cheek.", "{h} did not know what to do.",
    ],
    "glad": [
        "{h} was so happy that {h.he} [jumped for joy|laughed out loud|danced in a circle|could hardly speak].",
        "{h} smiled from ear to ear.", "{h} felt warm inside.", "{h} had never been so happy.", "{h} could not stop smiling.",
    ],
    "afraid": [
        "{h} was afraid, but {h.he} did not run away.", "{^h.his} knees began to shake.", "{h} held {h.his} breath.",
        "{^h.his} heart beat fast.", "{h} wanted to run, but {h.he} took a deep breath.",
    ],
    "think": [
        "{h} [thought for a moment|thought hard|scratched {h.his} head]. Then {h.he} had an idea.",
        "{h} sat down to think, and soon {h.he} had a plan.", "An idea came to {h}.", "{h} looked around and had an idea.",
    ],
    "walk": [
        "{h} walked [all day|for hours|for a long time], [over the hills|through the trees|along the river|down the old road].",
        "{h} followed the [narrow|winding|long|dusty] [path|road] [until the sun was low|for many miles|past the last house].",
        "The way was long, but {h} kept going.",
        "{h} went on, step by step, and [sang a song|counted the birds|thought of home] on the way.",
    ],
    "thanks": [
        "\"Thank you[| so much| with all my heart],\" said {h}.", "\"You are a true friend,\" said {h}.",
        "\"I will never forget this,\" said {h}.", "\"How can I ever thank you?\" asked {h}.",
        "{h} thanked {f} [with a hug|again and again|with a big smile].",
    ],
    "home": [
        "Then {h} went home{@homehow}.", "{h} walked home{@homehow}.", "When the stars came out, {h} was home again{@homehow}.",
    ],
    "homehow": [" with a light heart", " and slept well that night", ", tired but happy", " and told everyone the story", ""],
    "friends": [
        "From that day on, {h} and {f} were [best friends|the best of friends|good friends].",
        "{h} and {f} became friends, and they [met every day|were never lonely again|shared everything].",
        "After that, you could not see {h} without {f}.",
        "And so {h} and {f} stayed friends for the rest of their lives.",
    ],
    "end": [
        "And they all lived happily ever after.", "And that was the end of the story.", "They lived happily ever after.",
        "It was a day that nobody [there ||in the village ]ever forgot.", "And that night, everyone slept well.", "The end.",
        "", "",
    ],
    "kindness": [
        "{h} learned that a kind deed always comes back.", "{h} learned that even a small kindness is never wasted.",
        "And {h} knew that being kind is better than being strong.", "Kindness costs nothing, and it is worth more than gold.",
    ],
    "honesty": [
        "{h} learned that it is always better to tell the truth.", "From then on, {h} always told the truth.",
        "{h} learned that one lie makes a hundred troubles, but the truth sets things right.",
        "And {h} never told a lie again.",
    ],
    "patience": [
        "{h} learned that good things take time.", "{h} learned that a little work every day goes a long way.",
        "After that, {h} was never in a hurry again.", "And {h} understood that waiting is also a kind of work.",
    ],
    "courage": [
        "{h} learned that being brave does not mean having no fear.", "After that night, {h} was not afraid of the dark any more.",
        "{h} learned that most fears grow small when you look at them closely.",
        "And {h} knew that courage begins with one small step.",
    ],
    "sharing": [
        "{h} learned that everything tastes better when it is shared.", "After that, {h} always shared what {h.he} had.",
        "{h} learned that half a meal with a friend is better than a whole meal alone.",
        "And {h} knew that sharing makes small things big.",
    ],
    "wisdom": [
        "{h} learned that a clear head is better than a strong arm.", "After that, {h} always stopped to think first.",
        "{h} learned to listen before {h.he} spoke.", "And everyone said that {h} had become wise.",
    ],
    "humble": [
        "{h} learned that nobody likes a boaster.", "After that, {h} never boasted again.",
        "{h} learned that there is always someone who can teach you something.",
        "And {h} understood that pride comes before a fall.",
    ],
    "asked": ["asked {h}", "{h} asked"],
    "said": ["said {h}", "said {h}", "said {h} [kindly|softly|at once|with a smile|politely]"],
    "fsaid": ["said {f}", "said {f}", "said {f} [kindly|softly|at once|with a smile|gently]"],
}
