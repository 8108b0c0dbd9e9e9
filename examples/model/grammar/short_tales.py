"""Short tales of a few sentences, and journeys put together from encounters."""

SHORT = [
    ("h=folk p=place f=animal", """{@when}, {h.a} named {h} [found|met] {f.a} {p.in}. The {f.kind} was [cold|hungry|tired|lost], so {h} [took {f.him} home|gave {f.him} some bread|made a warm bed for {f.him}]. {@nextday} {f.the} [sang a song|showed {h} a secret path|danced in the sun] to say thank you. They became friends, and {h} was never lonely again."""),
    ("h=folk p=place o=keepsake hid=hiding", """{h} the {h.kind} had {o.a}. One day it was gone. {h} looked everywhere, and {@atlast} {h.he} found it {hid}. "[There you are|I missed you]!" said {h}, and {h.he} put it [in {h.his} pocket|in a safe place] and never lost it again."""),
    ("h=animal p=place c=fruit", """{@when}, {h.a} lived {p.in}. Every day {h.he} ate {c}, and every day {h.he} grew rounder. One morning {h.he} could not get out of {h.his} own front door. "[Oh dear|Oh no]!" said {h.the}. {^h.he} had to wait for three days until {h.he} was thin again. After that, {h.he} only ate half as many {c} and gave the rest to {h.his} friends."""),
    ("h=person t=town r=riddle", """The king of {t} had a riddle. "{r.q}" he asked. "[Whoever knows the answer may sit beside me|I will give a bag of gold for the answer]." Many wise men came, but nobody knew it. Then {h}, {h.a}, stood up and said, "It is {r.a}." The king laughed and clapped his hands. "So simple!" he cried, and he kept his word."""),
    ("h=animal f=animal p=place", """{h} the {h.kind} and {f} the {f.kind} wanted to see who could [jump higher|run faster|sing louder|stay awake longer]. They tried all day long. In the evening it was still a draw, and both of them were so tired that they fell asleep side by side {p.in}. When they woke up, they had forgotten what they were fighting about."""),
    ("h=person w=wild t=town o=treasure", """Long ago, {h}, {h.a} from {t}, went into {w} to find the {o}. {^h.he} came back after seven years with empty hands and a big smile. "Where is the {o}?" people asked. "I left it where it was," said {h}. "It looked happy there, and the way was the real treasure." """),
    ("h=person m=monster t=town", """A {m} once came to {t} and wanted to eat somebody. "[You may eat me|Very well]," said {h}, {h.a}, "but first you must let me tell you a story." It was so good that the {m} asked for another one, and then another. The sun came up, and the {m} had to go home. They say that it still comes back every year, but only for the stories."""),
    ("h=folk p=place g=colour c=colour", """One night, {h} the {h.kind} painted the moon {g}. In the morning everyone {p.in} was upset. So the next night {h} painted it {c}, but that was no better. {@finally} {h} washed the moon with soap and water, and it shone like silver. "[That is the best colour of all|Some things are good as they are]," said {h}."""),
    ("h=folk p=place s=storm", """When {s.event} came, everyone ran to the house of {h} the {h.kind}, because it was the strongest house {p.in}. There were so many guests that nobody could sit down. So they stood all night and told stories. "[It was the best storm of my life|I hope it storms again tomorrow]," said {h} when it was over."""),
    ("h=person d=dungeon t=town o=treasure", """They say that the {o} lies in the {d} near {t}. Many have looked for it. {h}, {h.a}, was the only one who came back. "What did you see?" people asked {h.him}. "[A light that moved|A door without a key|My own face in black water]," said {h}, and {h.he} never spoke about it again."""),
    ("h=folk p=place l=plant", """{h} the {h.kind} planted a tiny seed behind the house. {^h.he} gave it water every day and told it a joke every night. In spring it grew into a {l}. People say that if you stand very still beside it, you can hear it laugh."""),
    ("h=person f=person p=place o=food", """{h} and {f} had one {o.n} and two empty bellies. "You cut, and I choose," said {h}. So {f} cut the {o.n} so carefully that both halves were exactly the same. They ate in peace, and from that day they shared everything in the same way."""),
]

# Journeys: the start and the end with the same index belong together.
_LEAVING = "{^h.he} [packed a small bag|took bread and a bottle of water] and [left before sunrise|said goodbye to everyone]."
JOURNEY_START = [
    "{@open} {@oneday} {h} set out to find {w}. " + _LEAVING,
    "{@open} {@oneday} {h} decided to visit {e} the {e.kind}, who lived far away. " + _LEAVING,
    "{@open} {@oneday} {h} wanted to see the world. " + _LEAVING,
]

# Encounters on the way: they cast their own characters as x and y.
ENCOUNTERS = [
    ("x=animal", """{@meet} {h} met {x.a} named {x}. "Where are you going?" asked {x}. "[To the end of the road|Wherever the road goes]," said {h}. "[May I come with you for a while|Then take this feather for luck|Be careful, the road is long]," said {x}, and {@xend}"""),
    ("x=animal y=tool", """{@meet} {h} heard somebody cry. It was {x.a} named {x}, who had fallen into a hole. {h} found a {y} and helped {x.him} out. "[Thank you|You are very kind]," said {x}. "I will remember it." Then {h} went on."""),
    ("x=trouble", """{@meet} {h.he} came to {x.block}. {h} {x.passed}. After that, {h.he} needed a good rest."""),
    ("x=person y=food", """{@meet} {h.he} met {x}, {x.a}, who was sitting by the road with {y.a}. "[Are you hungry|Would you like a piece]?" asked {x}. They shared the {y.n} and talked about the weather and the world. "[Good luck|Farewell], {h}," said {x}."""),
    ("x=riddle", """{@meet} an owl sat on a signpost. "I will tell you the way if you know the answer to my question," it said. "{x.q}" {h} thought for a moment. "It is {x.a}," {h.he} said. "[Clever|Correct]," said the owl. "[Go left at the white stone|Follow the stream to the hills]." """),
    ("x=pest", """{@meet} {h} saw {x} between the trees. {^h.he} [hid behind a rock|climbed a tall tree|lay down in the long grass] and did not make a sound. {@finally} the {x} went away, and {h} could go on."""),
    ("x=storm", """{@meet} the sky grew dark, and {x.event} came. {h} [crept under a rock|found an empty hut|hid in a hollow tree] and waited. When it was over, [the whole world smelled of rain|a rainbow stood over the hills]."""),
    ("x=town", """{@meet} {h.he} came to {x}. There was music in the streets, and people were dancing. {h} danced with them until midnight, but in the morning {h.he} went on."""),
    ("x=fright", """That night, {h} lay awake in the forest and noticed {x.seems}. {@afraid} But it was only {x.is}, and {h} laughed and went back to sleep."""),
    ("x=elder", """{@meet} {h.he} met {x}, {x.a}. "[What do you seek|Why do you wander], my child?" asked {x}. "I do not know yet," said {h}. "[That is a good answer|Then you will find it]," said {x}."""),
    ("x=keepsake y=person", """{@meet} {h} found {x.a} on the path. A little further on sat {y}, {y.a}, who was looking for it. "[That is mine|You have found it]!" said {y}. {h} gave the {x.n} back, and {y} [hugged {h.him}|gave {h.him} a silver coin|taught {h.him} an old song]."""),
]
JOURNEY_END = [
    "{@finally} {h} reached {w}. It was [more beautiful than {h.he} had dreamed|quiet there, and the air was clear]. {h} sat down on a rock and looked at the land far below. \"[Now I know how big the world is|I am glad that I came],\" said {h}. Then {h.he} turned around and went home, and {h.he} had stories for a whole winter. {@end}",
    "{@finally} {h.he} stood in front of the house of {e}. \"[I have been waiting for you|So you have come], {h},\" said {e}. They sat by the fire, and {h} told {e.him} everything that had happened on the way. \"[You left as a child, and you have come as a hero|A journey is the best teacher],\" said {e}. {@courage} {@end}",
    "And then, one evening, {h} saw the lights of home. The road had led {h.him} in a great circle. {h} opened the door, lit the fire and smiled. \"[There is nothing like your own bed|The best part of a journey is coming home],\" said {h}. {@end}",
]

RULES = {
    "meet": [
        "{@later}", "On the road,", "At a crossroads,", "In the middle of the forest,", "Behind the next hill,",
        "{@nextday}", "Toward evening,", "By a small stream,", "At noon,",
    ],
    "xend": [
        "they walked together until the next village.", "{h} thanked {x.him} and went on.",
        "{x.he} waved until {h} was out of sight.",
    ],
}
