"""Tales of quest and adventure: monsters, magic, journeys, riddles and treasure. (roles, paragraphs)"""

TALES = [
    # An errand past one trouble, with a reward.
    ("h=folk p=place e=elder t=town w=wild o=treasure r=trouble q=trouble", """
{@open}
{@oneday} {e} the {e.kind} came to {h} with a worried face. "[I need your help|Only you can help me|Listen, {h}]," said {e}. "[Somebody has hidden|Thieves have taken|I have lost] the {o} of {t}. It lies in {w}. Will you bring it back?"
"I will [try|do my best|go at once]," {@said}, and [packed some bread|took a warm coat|filled a bottle with water].
{@walk} Before long, {h.he} came to {r.block}. {@think} {^h.he} {r.passed}.
On the second day there was {q.block}. [Many would have turned back|It looked hopeless], but {h} did not give up. {^h.he} {q.passed}.
{@finally} {h} stood in {w}. There, [on a flat rock|in a wooden chest|under a grey stone|in the roots of a dead tree], lay the {o}. {^h.he} took it [with both hands|carefully] and carried it all the way back to {t}.
The people [rang the bells|came out of their houses and cheered|danced in the street]. "[You have saved us|We shall not forget this day]," said {e}, and gave {h} [a bag of silver|a warm cloak|a place at the table|a medal made of gold]. {@courage} {@end}
"""),
    # A dragon with a problem.
    ("h=folk p=place t=town f=folk o=food", """
{@open}
{@oneday} the people of {t} were afraid. A dragon had come to the hill, and every night it roared so loudly that [the windows shook|nobody could sleep]. "[It will eat us all|Someone must chase it away]!" they cried. The soldiers [hid behind the wall|were too afraid to go].
"Has anyone asked the dragon what is wrong?" said {h}. Nobody had. So {h} climbed the hill [all alone|with a lantern|with {o.a} in a basket]. {@afraid}
The dragon lay in front of its cave. It was [as big as a house|as long as a street|green from nose to tail]. "Good evening," said {h} politely. "Why do you roar so loudly every night?"
The dragon was surprised. Nobody had ever spoken to it before. "{@dragonwoe}," it said.
"[Is that all?|Oh, you poor thing!]" said {h}. "{@dragonfix}"
And so it was done. From that night on there was no more roaring. [In winter the dragon lit the fires of the town|On feast days it let the children slide down its tail|It even learned to dance at the fair], and {h} was [its best friend|a hero in all the land]. {@kindness} {@end}
"""),
    # A bridge guarded by a troll with a riddle.
    ("h=folk p=place r=riddle q=riddle f=folk", """
{@open}
{@oneday} {h} was on the way to visit {f} the {f.kind}. {^h.he} came to a [stone|wooden|narrow|mossy] bridge, and under the bridge lived a troll.
"Stop!" [roared|shouted|growled] the troll. "Nobody crosses my bridge without answering my riddles. [If you are wrong, you must turn back|If you cannot answer, I will throw you into the water]."
{@afraid} "[Then ask|I am ready|Very well]," said {h}.
"{r.q}" asked the troll.
{h} [thought for a while|looked at the water|closed {h.his} eyes]. "It is {r.a}," {h.he} said.
The troll [frowned|scratched its ear|was surprised]. "That was the easy one. {q.q}"
This time {h} had to think for a long time. [The wind blew. The water ran|A fish jumped out of the water. A cloud went by]. Then {h.he} smiled. "It is {q.a}!"
"[Nobody has ever known that|Right again]," [sighed|grumbled] the troll, and it stepped aside. But it looked so sad that {h} asked, "[What is the matter|Why are you sad]?"
"[Nobody ever stays to talk|When people know the answers, they go away, and I am alone again]," said the troll.
So {h} sat down on the bridge and told the troll three new riddles. [They laughed a lot that day|It was the nicest afternoon of the troll's life]. And from then on, whoever came to that bridge with a good riddle could cross it for free. {@wisdom} {@end}
"""),
    # A magic thing with a catch.
    ("h=folk p=place m=magic f=folk o=fruit", """
{@open}
{@oneday} {h} found an old {m} [in the attic|under a hedge|at the market for one copper coin|on the beach]. When {h.he} [touched|rubbed|picked up] it, a voice said, "[I will grant you three wishes|You have three wishes]. Choose well."
{h} could hardly believe it. "[I wish for|I want] a mountain of {o}!" {h.he} said. Whoosh! There were so many {o} that {h} could not [open the door|see the sun|move].
"[I wish to be as big as a house|I wish I could fly|I wish I were a king]!" said {h}. {@wishtwo}
{f} the {f.kind} [came running|looked up at the trouble]. "[{h}, what have you done|What is going on here]?" {f.he} asked. "[Use your last wish wisely|Think before you wish again]!"
{h} thought for a long time. "I wish that everything were as it was before," {h.he} said at last. And so it was. The {m} [crumbled to dust|turned into an ordinary {m}|flew away like a bird].
[{h} looked at {h.his} small home and smiled|{h} took a deep breath and laughed]. "[I already have all that I need|It is better to be content than to be rich]," said {h}. {f} stayed for supper. {@wisdom} {@end}
"""),
    # A treasure map.
    ("h=folk p=place f=folk w=wild o=treasure r=trouble", """
{@open}
{@oneday} {h} found an old map [inside a book|in a bottle|behind a picture|in the pocket of an old coat]. A red cross marked a spot in {w}. "[A treasure map|This leads to a treasure]!" cried {h}, and {h.he} ran to {f} the {f.kind}.
"[Then what are we waiting for|I will bring the shovel|Let us go at once]!" {@fsaid}.
They set out before sunrise. {@walk_two} Soon they came to {r.block}. [For a moment they did not know what to do|{f} wanted to turn back]. But {h} had an idea, and they {r.passed}.
{@finally} they found the spot: [three white stones in a row|a tree shaped like a hand|a rock that looked like a sleeping cat]. They dug and dug. Then the shovel hit something hard. It was a chest! Inside lay the {o}, [wrapped in a blue cloth|on a bed of dry leaves], and a letter.
"Whoever finds this," the letter said, "[should know that the best treasure is the friend who came along|may keep it, if he came with a friend|has a brave heart]."
{h} looked at {f}, and {f} looked at {h}. [They both smiled|They shook hands]. "[The letter is right|It is true]," said {h}. They [gave the {o} to the village|put the {o} in the window, where everyone could see it|took turns to look after the {o}], and they kept the map for themselves. {@friends} {@end}
"""),
    # A monster is beaten by wits.
    ("h=folk p=place t=town m=monster g=fruit", """
{@open}
In those days a {m} [troubled the people of {t}|lived near {t}]. Every week it came down and [took a sheep|took the best {g}|asked for a cart of bread]. "[It is too strong for us|Nobody can fight it]," the people said.
{h} did not want to fight. {^h.he} [thought about it all night|thought hard for three days|went for a long walk], and then {h.he} had a plan. {^h.he} went to meet the {m}[| all alone| at midnight| at the old bridge].
"I have come to challenge you," said {h}.
The {m} laughed until the ground shook. "You? [What can a little one like you do?|You are smaller than my thumb.]"
{@montrick}
The {m} [turned pale|was ashamed|could not believe it]. "[You are stronger than I thought|I give up|You have won]," it said. It [went away over the mountains|ran away] and was never seen again.
That evening there was a great feast {t.in}. [They carried {h} through the streets|Everyone wanted to shake {h.his} hand]. "[It was not strength|I only used my head]," said {h}, and {h.he} asked for another piece of cake. {@wisdom} {@end}
"""),
    # A chain of trades.
    ("h=folk p=place e=elder a=keepsake b=tool c=fruit d=food", """
{@open} {^h.he} had nothing but {a.a}.
{@oneday} {h} wanted to bring a present to {e} the {e.kind}, but {h.he} had no money. So {h} took the {a.n} and went to the market.
First {h.he} met a [sailor|farmer|carpenter]. "That is a fine {a.n}," said the man. "I will give you this {b} for it." {h} gave him the {a.n} and took the {b}.
Next {h.he} met a woman who was crying. "[My cart is stuck in the mud|I need a {b} and cannot find one], and I must bring my {c} to town," she said. {h} gave her the {b}. "[You are so kind|That is just what I need]," said the woman. "Please take this basket of {c}."
Then {h.he} came to the baker. "What lovely {c}!" said the baker. "[I have none left|I need them for the feast]. Will you trade them for {d.a}?" {h} was glad to do it.
In the evening, {h} knocked on the door of {e}. "This is for you," {@said}. {e} [clapped {e.his} hands|had tears in {e.his} eyes]. "{^d.a}! [How did you know|That is my favourite food]," said {e}. "[Come in and share it with me|It is too much for one]."
So {h} had given away one {a.n}, and in return four people were happy. {@sharing} {@end}
"""),
    # A ship and an island.
    ("h=person p=place f=folk w=wild o=food r=storm", """
{@open} {^h.his} greatest dream was to sail across the sea.
{@oneday} {h} and {f} the {f.kind} found an old boat. They [painted it blue|mended the sail|closed the holes with tar], and when the wind was good, they sailed away.
[For three days the sea was calm|Dolphins swam beside the boat]. Then the sky turned black. The waves were as tall as [houses|trees|towers]. "Hold on!" cried {h}. The mast broke, and the boat [was thrown onto a beach|ran onto the sand of a small island].
"[At least we are alive|We are still together]," said {f}. They [made a fire|built a hut of branches|looked for water], and they ate {o.a} that had been in the boat. But how could they get home?
{@think} "[We can make a new mast from that tall tree|My blanket will make a fine sail]," said {h}. They worked [for a week|day and night], and {f} sang to keep them cheerful. {@finally} the boat was ready, and a [gentle|warm|fair] wind carried them home.
The whole harbour came to meet them. ["What was it like?" everyone asked. "It was wonderful and terrible,"|"Were you not afraid?" everyone asked. "Not with a friend beside me,"] said {h}. {@friends} {@end}
"""),
    # A ghost in the ruins wants something.
    ("h=folk p=place t=town o=keepsake hid=hiding d=dungeon", """
{@open}
The people of {t} never went near the {d}, because a ghost lived there. Every night it [cried|sighed|walked up and down] until the cock crowed.
{@oneday} {h} [made up {h.his} mind|could not stand it any longer]. "[Perhaps it needs help|A ghost that cries must be sad]," {h.he} said. {^h.he} took a lantern and went there at midnight. {@afraid}
The ghost [floated down the stairs|stood at the end of the hall|came out of the wall]. "[Who dares to come here|Why do you not run away]?" it asked in a hollow voice.
"My name is {h}," {@said}. "Why are you so sad?"
"Long ago, I lost {o.a}," said the ghost. "[It was a gift from my daughter|I promised to give it back]. Without it I can never rest."
So {h} searched the {d} [from top to bottom|all night]. And just before sunrise {h.he} found the {o.n}, {hid}. The ghost took it, and for the first time it smiled. "[Thank you, my child|Now I can sleep]," it whispered, and it [faded like morning mist|was gone].
In its place lay [a small bag of gold coins|a single white rose|a silver key]. {h} [took it home|kept it for the rest of {h.his} life]. And {t} had quiet nights again. {@courage} {@end}
"""),
    # A falling star.
    ("h=folk p=place f=folk w=wild r=trouble", """
{@open}
One night, {h} saw a star fall from the sky. It fell [behind the hills|into the lake|right into {w}]. "It must be lost," said {h}, and {h.he} ran out [in {h.his} night clothes|without a coat] to look for it.
On the way {h} met {f} the {f.kind}. "[Where are you going so late|What is the hurry]?" asked {f}. "A star has fallen down, and I want to help it," said {h}. "[Then I am coming too|You should not go alone]," said {f}.
They came to {r.block}, but they {r.passed}. {@later} they saw a soft light between the stones. There sat the star, [no bigger than an apple|small and pale], and it was crying tears of silver.
"[I slipped|I leaned too far to see the earth]," said the star. "Now I cannot get back home."
{@think} "[We must bring you to a high place|From the top of the mountain you can jump]," said {h}. All night long they climbed[|, and {f} carried the star when {h} was tired]. At the top, {h} held the star up as high as {h.he} could. "Jump!" The star [jumped|took a deep breath and jumped], higher and higher, until it was back in its place.
Since then, one star [winks|shines a little brighter] when {h} and {f} look up at night. {@kindness} {@end}
"""),
    # A knight who must keep watch.
    ("h=person p=place t=town e=elder x=pest o=treasure", """
{@open} {^h.his} dream was to become a guard of {t}.
"You are too [young|small|gentle] for that," [everyone|the captain] said. But {e} the {e.kind} said, "[Let {h} keep watch for one night|Give {h.him} a chance]. Then we shall see."
So that night {h} stood on the wall with a lantern and a horn. [The hours went by slowly|It was cold, and an owl called from the tower]. {^h.his} eyes grew heavy, but {h} did not sleep. {^h.he} [walked up and down|counted the stars|sang under {h.his} breath].
Just before dawn, {h} saw something move. {^x} were creeping up to the gate! They wanted the {o}, which was kept in the tower. {@afraid} Then {h} blew the horn so loudly that [the whole town woke up|the birds flew out of the trees].
The soldiers ran to the wall. When the {x} saw all the lights, they [turned around and ran|fled into the night].
In the morning, [the captain|{e}] gave {h} [a blue cloak|a helmet|a shiny badge]. "[You have good eyes and a brave heart|You did not fall asleep, and you did not run away]," said {e}. "Welcome to the guard." {@glad} {@courage} {@end}
"""),
    # A stubborn pair at a narrow place.
    ("h=animal p=place f=animal o=fruit", """
{@open}
{@oneday} {h} wanted to cross [a narrow bridge|a fallen log over the stream|a narrow path on the cliff]. In the middle {h.he} met {f.a} named {f}, who came from the other side.
"[Step back|Make way]!" said {h}. "I was here first."
"No, you step back," said {f}. "I am [older|in a hurry|carrying a heavy bag of {o}]."
[They stood nose to nose|Neither of them moved]. An hour went by, then two. The sun [burned|went down], and both of them were [hungry|tired|thirsty].
{@think} "Listen," said {h}. "[If I lie down, you can step over me|If we both turn sideways, there is room for two]. Then both of us can go on."
{f} [blinked|thought about it|looked surprised]. "[That is clever.|Why did we not think of that before?]" said {f}. They did it, slowly and carefully, and it worked.
On the other side, {f} turned around and called, "[Would you like some of my {o}|Shall we meet here again tomorrow]?" "With pleasure!" called {h}. {@friends} {@wisdom} {@end}
"""),
    # Kindness in disguise.
    ("h=person p=place e=elder o=food m=magic", """
{@open} {^h.he} had very little, only {o.a} for the whole day.
{@oneday} [a beggar|an old traveller] [knocked at the door|sat at the side of the road]. "[I have not eaten for two days|Please, I am so hungry]," said the stranger.
{h} looked at the {o.n}. {^h.he} was hungry too. But {h.he} broke it in two and gave the stranger [the bigger half|half of it]. "[Sit by my fire|Eat, and rest a little]," {@said}.
When the stranger had eaten, [the rags fell away|the room filled with light]. It was {e}, the {e.kind} of {p.the}, who was known in all the land! "[I have knocked at a hundred doors|I wanted to know who has a good heart]," said {e}. "You were the only one who shared with me. Take this {m}. As long as you are kind, your table will never be empty."
And so it was. [Whenever {h} touched the {m}, there was enough bread for everyone|From that day, {h} was never hungry again], and {h.his} door was always open. {@sharing} {@end}
"""),
    # Colours, or a song, brought to a grey town.
    ("h=folk p=place t=town s=skill c=colour e=elder", """
{@open}
The town of {t} was the [greyest|saddest|quietest] town in the land. [Nobody laughed there|The houses were grey, and so were the faces]. {h} came there {@onvisit}.
"Why is nobody happy here?" asked {h}.
"[We forgot how|It has always been like this]," said {e}, {e.a} [with tired eyes|at the well].
{@think} {^h.he} took a pot of {c} paint and painted [one door|one window|the old well]. It shone like [a flower in the snow|a lamp in the dark]. The people [stopped and stared|came out of their houses]. "[It is only paint|It is so bright]!" they said.
"May I do mine too?" asked a [little girl|small boy]. Soon [everyone had a brush|the whole street was painting]. They painted the walls [{c} and white|in every colour of the rainbow], and somebody began to sing.
When {h} left {t}, [{e} was dancing in the square|even the cats looked happy]. "[One drop of colour was enough|Somebody only had to begin]," said {h}. {@kindness} {@end}
"""),
]

RULES = {
    "dragonwoe": [
        "I have a terrible toothache", "I am so cold, and my fire has gone out", "I cannot sleep, because my cave is full of bats",
        "I am so lonely, and I know no other way to call for a friend", "There is a thorn in my foot, and I cannot reach it",
        "I have hiccups, and they will not stop",
    ],
    "dragonfix": [
        "I know how to help you, if you promise not to hurt anyone.", "We can put that right before the sun comes up.",
        "Hold still and trust me. It will be over soon.", "My friends and I will come every day until you feel better.",
    ],
    "wishtwo": [
        "At once it came true, but it was not nice at all. {h} was cold, and everything was far away.",
        "It came true, and at first {h} laughed. But soon {h.he} was lonely, because all {h.his} friends ran away from {h.him}.",
        "Puff! But everything went wrong, and {h} was more unhappy than before.",
    ],
    "montrick": [
        "\"I can squeeze water out of a stone,\" said {h}, and {h.he} pressed a piece of white cheese until water ran out of it. The "
        "{m} tried it with a real stone, but no water came.",
        "\"Let us see who can throw higher,\" said {h}. The {m} threw a stone so high that it took a minute to come down. But {h} "
        "let go of a little bird that {h.he} had hidden, and it never came down at all.",
        "\"Let us see who can eat more,\" said {h}. The {m} ate and ate. But {h} dropped {h.his} food into a bag under {h.his} "
        "shirt, and {h.he} was still asking for more when the {m} could not eat another bite.",
        "\"My brother is even bigger than you,\" said {h}. \"He lives in the lake. Look!\" The {m} looked into the water and saw an "
        "ugly face with big teeth. It was its own, but it did not know that.",
        "\"You may be big,\" said {h}, \"but can you make yourself small?\" \"Of course!\" cried the {m}, and it became as small as "
        "a mouse. At once {h} put a pot over it and sat down on top. \"I will let you out if you promise to leave us alone,\" said {h}.",
    ],
    "walk_two": [
        "They walked [all day|for hours], [over the hills|through the trees|along the river], and told each other stories.",
        "The way was long, but they were in a good mood.", "They shared their bread and took turns to carry the bag.",
    ],
    "onvisit": ["to sell some cheese", "to visit an aunt", "by chance, on a rainy day", "because {h.he} had lost the way"],
}
