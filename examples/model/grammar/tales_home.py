"""Tales of home: friends, neighbours, lost things, small faults and small triumphs. (roles, paragraphs)"""

TALES = [
    # A lost keepsake is looked for in three places and found by a friend.
    ("h=folk p=place f=folk o=keepsake s=spot t=spot u=spot hid=hiding", """
{@open} {^h.his} dearest treasure was {o.a} that [{h.his} grandmother had given {h.him}|{h.he} had found when {h.he} was very small|{h.he} carried everywhere].
{@oneday} {h} woke up and the {o.n} was gone. {h} looked {s}, but it was not there. {h} looked {t}, but it was not there either. {^h.he} even looked {u}. No {o.n}! {@sad}
{f} the {f.kind} [came by|heard {h.him}|saw {h.him}] and asked, "[What is wrong|Why are you so sad|What are you looking for], {h}?"
"I have lost my {o}," {@said}. "[I cannot find it anywhere|I have looked everywhere|It means so much to me]."
"[Do not worry|Do not cry|Cheer up]," {@fsaid}. "[We will look for it together|Four eyes see more than two|Let us think where you had it last]."
{@later} [the two friends searched everywhere again|they looked again, slowly and carefully]. {@suddenly} {f} [saw something shine|called out|gave a cry of joy]. There was the {o}, {hid}!
{@glad} {@thanks} {@friends} {@end}
"""),
    # A helper in need is repaid.
    ("h=folk p=place f=animal t=tool", """
{@open}
{@oneday} {h} heard a small voice. "Help! Help!" It was {f.a} named {f}, who was stuck [in a deep hole|in a net|under a fallen branch|in the mud].
"[Please help me|I cannot get out|I have been here all night]," said {f}. {h} [did not wait|ran home at once|looked around quickly] and came back with a {t}. {^h.he} [pulled and pulled|worked for an hour|tried again and again], and {@atlast} {f} was free.
"[Thank you|You saved me]," said {f}. "One day I will help you too." {h} [smiled|laughed kindly] and thought, "[How could such a {f.kind} ever help me|That is a nice thing to say]."
[Winter|Autumn|Summer|Spring] came, and {h} [lost {h.his} way in the fog|fell into the cold water|could not find the way home in the dark|hurt {h.his} foot far away from home]. {^h.he} called for help, but [nobody came|there was no answer]. Then {h} heard a voice that {h.he} knew. It was {f}!
"[I told you|You see], I did not forget," said {f}, and [showed {h.him} the way home|brought {h.him} safely home|ran to bring help]. {@thanks} {@kindness} {@end}
"""),
    # Two friends quarrel over food and learn to share.
    ("h=folk p=place f=folk o=food", """
{@open} {^h.his} best friend was {f.a} named {f}.
{@oneday} the two friends found {o.a} [on the window sill|on a flat stone|at the side of the road|on the kitchen table]. [Nobody was there|It belonged to nobody].
"It is mine," said {h}. "I saw it first!"
"No, it is mine," said {f}. "I smelled it first!"
They [pulled and pushed|shouted and stamped their feet|argued the whole morning], and neither of them would give in. {@suddenly} [a crow flew down|a stray dog ran up|a big goose came along] and [ate half of it|took a big bite out of it|grabbed a large piece]. {h} and {f} stared at what was left.
"[If we had shared|If we had not argued], we would both have had enough," said {h} [quietly|with a sigh].
"[You are right|That is true|I am sorry]," said {f}. "[Let us share the rest|Here, you take the bigger half|There is still a little for each of us]."
So they cut the {o.n} in two and ate it together, and it tasted [wonderful|better than anything|sweet and good]. {@sharing} {@end}
"""),
    # A fright at night turns out to be harmless.
    ("h=folk p=place f=folk r=fright", """
{@open} There was only one thing that {h} did not like, and that was the dark.
One night, {h} [could not sleep|woke up|lay awake]. {@suddenly} {h.he} noticed {r.seems}. {@afraid}
{^h.he} [ran|crept|tiptoed] to the house of {f} the {f.kind} and [knocked|called] softly. "{f}, [wake up|please come|are you awake]!" {h.he} whispered. "There is {r.seems} outside!"
"[Then we will look together|Let us go and see|A thing is less frightening when you look at it]," {@fsaid}, and [lit a lamp|took a candle|took {h} by the hand].
Step by step they went [into the dark|out into the night|closer]. {f} held up the light. And what was it? It was only {r.is}!
[First it was quiet. Then {h} began to laugh, and {f} laughed too|They both laughed until their sides hurt]. "[And I was so afraid|What a silly thing to be afraid of]!" said {h}. {@courage} {@end}
"""),
    # A boaster loses a race.
    ("h=folk p=place f=folk g=festival", """
{@open} But {h} had one fault: {h.he} loved to boast. "I am the fastest of all," {h.he} said every day.
{@oneday} {f} the {f.kind} had heard enough. "[Let us race|I will race you|Shall we see], {h}," said {f}. "[From the old well to the big oak|Once around the lake|To the top of the hill and back]."
{h} laughed. "You? You are so slow! [I will win with my eyes closed|You will never catch me]."
The race began [at noon|on the day of the {g}|when the bell rang]. {h} ran ahead, [far ahead|as fast as the wind], and soon {f} was out of sight. "[I have plenty of time|There is no hurry]," thought {h}, and {h.he} [lay down under a tree to rest|stopped to eat some berries|stopped to talk to the ducks|sat down in the shade].
{f} did not stop. [Slowly but surely|Step by step|Without looking left or right], {f} went on. When {h} [woke up|looked up|remembered the race], it was too late. {f} had [already reached the end|just crossed the line], and everybody cheered.
{h} [turned red|hung {h.his} head|was very quiet]. "[You won|Well done], {f}," said {h}. "[I was foolish|I am sorry that I laughed at you|You are better than I thought]." {@humble} {@end}
"""),
    # A weak house is blown away and a strong one is built.
    ("h=folk p=place f=folk w=storm b=build c=weak d=strong", """
{@open}
{@oneday} {h} decided to build a {b}. "I will make it of {c}," {h.he} said. "[That is quick and easy|Then I will be done before supper|It will be enough for me]."
{f} the {f.kind} shook {f.his} head. "[A {b} of {c} will not last|The first storm will break it|Good work takes time]," said {f}. But {h} did not listen.
That [night|week|evening], {w.event} came. It {w.does}, and in the morning there was almost nothing left of the {b}. {@sad}
{f} did not [laugh|say a word about it]. {^f.he} only asked, "[Shall we build it again, together|May I help you|Are you ready to try again]?"
This time they used {d}. It took [many days|a whole month|until the first snow], and they [got blisters on their hands|were tired every evening|sang while they worked]. But when the next storm came, the {b} stood firm, and {h} and {f} sat [inside, warm and dry|safely beside it|close together and listened to the rain].
{@patience} {@friends} {@end}
"""),
    # A shy newcomer is welcomed.
    ("h=folk p=place f=folk o=food b=hobby", """
{@open}
{@oneday} someone new came to live nearby. It was {f.a} named {f}. {f} was [so shy that {f.he} never said a word|far from home and knew nobody|always alone].
[The others laughed at {f}|Nobody spoke to {f}|The others did not know what to say], but {h} [felt sorry for {f.him}|remembered how it feels to be alone|wanted to make a new friend]. {^h.he} [baked|made|brought] {o.a} and knocked on {f.his} door.
"Hello," said {h}. "My name is {h}. [Would you like some of this {o.n}|I brought you this {o.n}|Welcome to your new home]."
{f} [looked at the floor|smiled a little|opened the door a little wider]. "Thank you," {f.he} whispered. "[You are the first one to visit me|Nobody has ever been so kind to me|Would you like to come in]."
They ate the {o.n} together and talked[| until the sun went down| for a long time]. {h} found out that {f} loved to {b.do} too. "[Then let us do that tomorrow|I know just the right place for that]!" said {h}.
{@nextday} [everyone saw them laughing together|the others came along and asked to join in]. {@friends} {@end}
"""),
    # A lie grows until the truth is told.
    ("h=folk p=place e=elder o=keepsake f=folk", """
{@open}
{@oneday} {h} was [playing|dancing|running] in the house of {e} the {e.kind}, and {h.he} broke {o.a}. It fell [on the floor|off the shelf] and [cracked|broke in two].
When {e} came home, {e.he} asked, "Who broke my {o.n}?"
{h} was afraid. "It was {f}," {h.he} said[| quickly| in a small voice]. So {e} [was angry with {f}|sent {f} home|would not talk to {f}], and {f} [cried|was very sad|did not understand why].
That night, {h} could not sleep. {^h.he} [turned this way and that|looked at the moon|thought of {f}]. The lie lay on {h.his} chest like a stone.
{@nextday} {h} went to {e}. "It was not {f}," {h.he} said. "I broke your {o.n}, and I told a lie. I am sorry."
{e} was quiet for a moment. "[It takes courage to say that|A broken {o.n} can be mended, and so can this|Thank you for telling me the truth]," said {e}. "[Now go and tell {f} too|Go and say sorry to {f}]."
{h} ran to {f} and said sorry, and {f} forgave {h.him}. [Together they mended the {o.n}|They mended the {o.n} with glue, and it looked almost new]. {@honesty} {@end}
"""),
    # Practice makes a master.
    ("h=folk p=place e=elder s=skill g=festival", """
{@open} But more than anything, {h} wanted to learn to {s.do}.
The first time that {h.he} tried, [everything went wrong|it was a disaster|everyone laughed]. The second time was [no better|even worse]. {@sad} "I will never learn it," said {h}.
{e}, {e.a} [from the next village|who lived nearby], had watched {h.him}. "[Nobody is born a master|I fell down a hundred times before I could do it|Do you want to know my secret]," said {e}. "[Come to me every morning, and I will teach you|A little every day, that is all|Try again, but more slowly]."
So {h} practised. {^h.he} practised in the [rain|morning] and in the [snow|evening]. [Some days it went well, and some days it did not|Sometimes {h.he} wanted to stop, but {e} only smiled and said, "Once more."]
Then came the {g}. Everyone was there. {@afraid} Then {h.he} thought of {e}, and {h.he} {s.did} [better than ever before|so well that nobody made a sound|as if {h.he} had never done anything else].
When it was over, [the people clapped and cheered|everyone stood up and cheered]. {e} [nodded|smiled] and said, "[You see|Now you know the secret|I am proud of you]." {@patience} {@end}
"""),
    # A friend is sick and a herb is fetched.
    ("h=folk p=place f=folk e=elder b=herb w=wild r=trouble", """
{@open} {^h.his} best friend was {f} the {f.kind}.
{@oneday} {f} [fell ill|had a fever|could not get out of bed]. {h} sat beside {f.him} [all night|and held {f.his} hand], but {f} only grew weaker.
"There is one thing that can help," said {e} the {e.kind}. "A herb called {b}. It grows [only ||]in {w}. But the way there is [long|hard|dangerous]."
"I will go," said {h}[| without waiting| at once].
{@walk} Then {h.he} came to {r.block}. {@think} {^h.he} {r.passed}.
{@finally} {h} found the {b}. It [shone in the moonlight|grew between two stones|smelled of honey and rain]. {h} picked [a few leaves|just enough], thanked the plant, and ran home as fast as {h.he} could.
{e} made a [hot tea|strong soup|bitter drink] from it, and {f} drank every drop. {@nextday} {f} opened {f.his} eyes. "[I am hungry|I feel much better|Was it you who saved me]," {f.he} said. {@glad} {@friends} {@end}
"""),
    # A birthday seems forgotten.
    ("h=folk p=place f=folk g=folk o=food k=keepsake", """
{@open}
{@oneday} {h} woke up very early. It was {h.his} birthday! {h} ran to {f} the {f.kind}. "Good morning, {f}! [Do you know what day it is|Is it not a lovely day]?" {h} asked.
"[It is washing day|Just a normal day, I think|I am sorry, I am busy]," said {f}, and shut the door. So {h} went to {g} the {g.kind}. "[I have no time today|Not now, {h}, I must go to the market]," said {g}, and hurried away.
{h} walked home [slowly|with {h.his} head down]. {@sad} "[Everyone has forgotten my birthday|Nobody thinks of me]," {h.he} said.
When it grew dark, {h} opened {h.his} own door and saw [a hundred candles|lights everywhere|flowers on every chair]. "Surprise!" cried {f} and {g}. On the table stood {o.a}, and next to it lay {k.a} with a red ribbon. "[We had to keep it a secret|We were busy all day because of you]," said {f}. "Happy birthday, {h}!"
{@glad} They [ate and sang|danced and laughed] until [midnight|the candles burned down]. {@end}
"""),
    # A seed needs patience.
    ("h=folk p=place e=elder l=plant", """
{@open} But {h} was never patient. Everything had to happen at once.
{@oneday} {e} the {e.kind} gave {h.him} a seed. "[Plant it and wait|If you take care of it, it will become something wonderful]," said {e}.
{h} planted the seed [in the best corner of the garden|in a clay pot|by the wall] and gave it water. Then {h.he} sat down and watched. Nothing happened. {^h.he} watched the whole day. Still nothing. "[This seed is broken|It does not work]!" cried {h}, and {h.he} wanted to dig it up.
"Wait," said {e}. "[Under the earth it is busy|You cannot see it, but it is growing|A seed has its own time]. Give it water every morning, and do not count the days."
So {h} gave it water every morning. [Rain came, and sun came|One week went by, and then another]. And one day there was a [tiny green leaf|thin green stem]! It grew and grew, and by the end of summer there stood a [tall|beautiful|strong] {l}, [taller than {h}|the finest for miles around].
{@glad} {e} said, "[You grew as well|The {l} was not the only one that grew]." {@patience} {@end}
"""),
    # Someone takes things: a mystery.
    ("h=folk p=place f=folk t=town o=keepsake k=keepsake m=animal hid=hiding", """
{@open}
{@oneday} strange things began to happen {t.in}. First {o.a} was gone. Then somebody missed {k.a}. "There is a thief!" the people said, and they [locked their doors|looked at each other with suspicion].
"Let us find out who it is," said {h} to {f} the {f.kind}. {^h.he} looked at the ground. "[Look, there are small footprints|Do you see these tiny tracks|Here is a tuft of hair]," {@said}. They followed the tracks [past the mill|behind the church|across the market square|over the stone wall], and there they waited[| without a sound| in the dark].
When the moon rose, something moved. It was {m.a}! It carried a spoon in its mouth and hid it {hid}, and there lay the {o} and the {k} as well.
"You are the thief!" cried {f}.
The {m.kind} [began to cry|looked at the ground|jumped with fright]. "I am not a thief," it said. "My name is {m}. [I only wanted to make my home pretty|I like things that shine, and I did not know that they belonged to anybody|I thought that nobody wanted them]."
{h} [thought about it|nodded]. "[If you bring everything back, nobody will be angry|Then come with us and say sorry]," said {h}. And so it was. The people [forgave {m}|laughed when they heard the story] and gave {m.him} [a box of buttons|a bag of glass beads|an old silver bell] to keep. {@wisdom} {@end}
"""),
    # The winter store.
    ("h=animal p=place f=animal o=fruit b=hobby", """
{@open} All summer long, {h} gathered {o} and [put them in a dry place|hid them under the roots|carried them home in a little basket].
{^h.his} neighbour was {f.a} named {f}. {f} liked to {b.do} and never thought of tomorrow. "[Come and play|Why do you work all day|Winter is far away], {h}!" {f.he} called.
"[First the work, then the play|Winter always comes sooner than you think]," {@said}.
Then the leaves fell, and one morning the whole world was white. {f} had nothing to eat. {^f.he} [looked under the snow, but found nothing|was cold and hungry]. At last {f.he} knocked on the door of {h}. "[I was foolish|You were right|I am so hungry]," said {f}. "[May I have a few {o}|Could you help me]?"
{h} looked at the snow and then at {f}. "Come in," said {h}. "[There is enough for two|Nobody should be hungry in winter]. But next summer you will help me, and I will play with you too."
{f} [promised|gave {h.him} a big hug and promised]. And when summer came, {f} kept {f.his} promise: in the morning they [worked|gathered {o}], and in the afternoon they [played|sang|danced]. {@sharing} {@end}
"""),
    # A lost child of the wild is brought home.
    ("h=person p=place f=animal w=wild r=trouble", """
{@open}
{@oneday} {h} found {f.a} [at the side of the road|under a bush|by the garden gate]. It was [all alone|shaking with cold|very thin].
"Are you lost?" asked {h}.
"Yes," said {f.the}. "My name is {f}. I come from {w}, and I cannot find my family."
"[I will take you home|Do not be afraid, I know the way|Then we will find them together]," {@said}. {^h.he} [wrapped {f} in {h.his} coat|gave {f} some bread and milk], and off they went.
{@walk} In the evening they came to {r.block}. "[What now|How can we go on]?" asked {f}. {@think} Together they {r.passed}.
{@nextday} {f} [lifted {f.his} head|began to run]. "I know this place!" {f.he} cried. And there, [between the trees|on the top of the hill|beside a small stream], stood {f.his} whole family. [How happy they were|They had looked for {f.him} day and night]!
{@thanks_f} {h} waved until {f.he} could not see them any more. {@home} {@kindness} {@end}
"""),
    # The wish for something bigger.
    ("h=folk p=place f=folk b=hobby", """
{@open} But {h} was not content. "[I wish I were somebody else|Other people have a much better life]," {h.he} often said.
{@oneday} {h} met {f}, {f.a}. "[You have a fine life|How lucky you are], {f}," said {h}. "You can {b.do} whenever you want. Let us change places for one day!"
{f} laughed. "Why not? [I have often thought the same about you|Then I can see how you live]."
So {h} went to live in the house of {f}, and {f} went to live {p.in}. At first it was fun. But soon {h} [found the bed too hard|did not know where anything was|felt like a stranger], and the evening was [long and lonely|much too quiet]. {h} missed {h.doing}. {^h.he} missed {h.his} own [window|bed|chair], and the smell of {h.his} own kitchen.
{@nextday} {h} ran home, and halfway there {h.he} met {f}, who was running too. "[I missed my home|I could not sleep]!" they both said at the same time, and then they laughed.
{h} learned that [every life has its own sun and its own rain|the best place in the world is home]. {@friends} {@end}
"""),
]

RULES = {
    "thanks_f": [
        "\"Thank you[| so much| for everything], {h},\" said {f}.", "\"We will never forget what you did,\" said {f} and the others.",
        "\"You will always be welcome here,\" said the mother of {f}.",
    ],
}
