"""The words of the corpus: who may appear, where, and with what."""


def words(text):
    """Words or phrases separated by commas."""
    return [w.strip() for w in text.replace("\n", " ").split(",") if w.strip()]


BOY_NAMES = words("""Tom, Ben, Max, Sam, Leo, Finn, Oliver, Jack, Hugo, Milo, Oscar, Theo, Conrad, Peter, Robin, Felix, Emil,
 Jonas, Otto, Rufus, Toby, Noah, Simon, Martin, Anton, Edwin, Alfred, Bruno, Casper, Dario, Elias, Gregor, Henry, Ivan,
 Jasper, Karl, Linus, Marco, Nico, Owen, Pavel, Quentin, Rowan, Stefan, Tobin, Ulric, Victor, Walter, Arlo, Boris""")
GIRL_NAMES = words("""Lily, Anna, Mia, Ella, Rosa, Clara, Nora, Ida, Emma, Sofia, Lucy, Alice, Greta, Hazel, Ivy, Jenna,
 Kara, Lena, Mira, Nina, Olga, Petra, Ruth, Sara, Tessa, Una, Vera, Wilma, Yara, Zoe, Daisy, Edith, Flora, Gwen, Helen,
 Iris, Julia, Katie, Luna, Maya, Nell, Opal, Pearl, Rita, Selma, Tilda, Willow, Amber, Bella, Celia""")
HE_ANIMAL_NAMES = words("""Pip, Rusty, Bramble, Buster, Nibbles, Patch, Tuck, Bruno, Chester, Digby, Fergus, Gus, Hopper,
 Jasper, Monty, Nutmeg, Oakley, Pepper, Rascal, Scout, Thistle, Tinker, Wally, Ziggy, Barnaby, Basil, Bobbin, Cedar""")
SHE_ANIMAL_NAMES = words("""Poppy, Clover, Daisy, Fern, Ginger, Hazel, Honey, Juniper, Maple, Misty, Olive, Pebble, Penny,
 Primrose, Rosie, Ruby, Sage, Snowy, Tansy, Velvet, Violet, Willow, Winnie, Bluebell, Cricket, Dottie, Amber, Cinder""")
ANIMALS = words("""fox, rabbit, bear, mouse, squirrel, hedgehog, badger, otter, beaver, owl, duck, goose, frog, turtle, cat,
 dog, kitten, puppy, deer, wolf, mole, raccoon, pony, donkey, goat, lamb, pig, hen, sparrow, robin, crow, bee, snail,
 lizard, hamster, swan, raven, weasel, moose, lynx, elephant, lion cub, tiger cub, monkey, parrot, penguin, panda""")
BOY_KINDS = words("""boy, boy, boy, shepherd, farmer's son, miller's son, baker's son, prince, fisherman, woodcutter, squire,
 stable boy, carpenter, blacksmith, sailor, young man, page, gardener, knight, tailor""")
GIRL_KINDS = words("""girl, girl, girl, shepherdess, farmer's daughter, miller's daughter, baker's daughter, princess, weaver,
 gardener, milkmaid, young woman, potter, archer, sailor's daughter, beekeeper, painter, knight, healer, goose girl""")
OLD_MEN = words("old man, old wizard, grandfather, old king, old hermit, old monk, old sailor, old shepherd, old smith")
OLD_WOMEN = words("old woman, old witch, grandmother, old queen, old healer, wise woman, old weaver, old fairy, old nurse")
LOOKS = words("""small, little, young, tiny, cheerful, quiet, lively, gentle, friendly, shy, merry, sleepy, playful, hungry,
 busy, curious, bright, happy, poor, lonely, kind, clever, brave, polite, proud, funny, careful, thoughtful""")
TRAITS = words("""kind, brave, clever, curious, patient, honest, gentle, careful, cheerful, stubborn, shy, proud, generous,
 hard-working, friendly, quick, polite, helpful, loyal, calm""")

# Homes and places to go: (preposition, noun, adjectives that fit)
_PLACES = [
    ("in", "forest", "green, quiet, deep, old, dark, wide"),
    ("in", "village", "small, quiet, sunny, little, happy"),
    ("in", "valley", "green, wide, sunny, hidden, quiet"),
    ("in", "meadow", "sunny, green, wide, flowery"),
    ("in", "town", "busy, small, old, lively"),
    ("in", "cottage", "tiny, little, cosy, wooden, stone"),
    ("in", "garden", "lovely, walled, old, wild"),
    ("in", "castle", "grand, old, tall, grey"),
    ("in", "cave", "dark, cold, deep, dry"),
    ("in", "marsh", "misty, wide, muddy"),
    ("in", "orchard", "old, sunny, big"),
    ("in", "harbour", "busy, old, windy"),
    ("on", "farm", "small, busy, lonely, quiet"),
    ("on", "hill", "high, green, windy, round"),
    ("on", "island", "small, rocky, lonely, sunny"),
    ("on", "mountain", "tall, snowy, steep, misty"),
    ("by", "river", "wide, slow, clear, silver"),
    ("by", "lake", "deep, blue, calm, quiet"),
    ("by", "sea", "wide, blue, stormy"),
    ("by", "pond", "small, round, muddy, still"),
    ("near", "mill", "old, wooden, busy"),
    ("near", "bridge", "old, stone, wooden, narrow"),
    ("near", "waterfall", "bright, loud, high"),
    ("at", "edge of the woods", ""),
    ("at", "foot of the mountain", ""),
    ("at", "end of the road", ""),
    ("under", "oak tree", "big, old, hollow"),
    ("behind", "barn", "red, big, old"),
]
PLACES = [(p, n, words(a)) for p, n, a in _PLACES]
SEARCH_SPOTS = words("""under the bed, behind the door, in the garden, under the table, by the well, in the barn, along the
 path, behind the old tree, in the tall grass, under the bridge, by the river, on the shelf, in the kitchen, near the gate,
 inside the basket, under the pillow, among the leaves, behind the stove, in the hay, beside the pond""")
HIDING_SPOTS = words("""under a pile of leaves, inside an old boot, at the bottom of the well, in a bird's nest, behind a loose
 stone, between two roots, inside a hollow log, under a flower pot, in the pocket of an old coat, beneath a wooden bench,
 on top of the wall, at the bottom of a basket, in a bush full of berries, in the fork of a tree, under the doorstep""")
VILLAGE_START = words("""Oak, Ash, Brook, Stone, Mill, Fern, Raven, Willow, River, Green, Silver, Thorn, Maple, Winter, Fox,
 High, Moss, Amber, Elm, Hazel, Wolf, Honey, Salt, Bright, Pine""")
VILLAGE_END = words("vale, ford, bridge, field, hollow, wick, ton, haven, dale, wood, brook, stead, mere, gate, bury")
WILD_START = words("""Whispering, Misty, Broken, Silent, Shadow, Hidden, Frozen, Sunken, Crooked, Howling, Golden, Lonely,
 Black, Singing, Forgotten, Red, Hollow, Sleeping""")
WILD_END = words("""Wood, Hill, Cave, Marsh, Valley, Tower, Ruin, Lake, Pass, Mountain, Gorge, Temple, Cliff, Forest,
 Moor, Crypt""")

KEEPSAKES = words("""ring, key, bell, button, coin, necklace, feather, whistle, compass, locket, flute, spoon, marble, lantern,
 medal, brooch, thimble, shell, hat, scarf, kite, drum, book, map, doll, mirror, cup, pearl, clock, music box""")
KEEPSAKE_LOOKS = words("""small, silver, golden, shiny, old, little, red, blue, green, wooden, pretty, precious, tiny, bright,
 copper, painted, strange, beautiful""")
MAGIC_THINGS = words("""lamp, ring, mirror, pot, stone, bell, cloak, flute, book, seed, brush, feather, shell, key, hat, wand,
 lantern, drum, mask, cup""")
FOODS = words("""apple pie, honey cake, loaf of bread, pear tart, round cheese, plum cake, nut loaf, pancake, cherry pie,
 cream bun, pumpkin pie, gingerbread heart, honey roll, blueberry muffin, oat biscuit, mushroom pie, carrot cake, berry tart,
 cheese roll, sausage, potato cake, cinnamon bun""")
FRUITS = words("apples, pears, berries, cherries, plums, nuts, acorns, carrots, grapes, mushrooms, peaches, turnips")
FOOD_LOOKS = words("warm, fresh, sweet, big, delicious, hot, tasty, golden, soft, little")
TOOLS = words("rope, hammer, ladder, bucket, shovel, axe, net, basket, saw, lantern, blanket, long stick, spade, needle")
HERBS = words("""moonflower, silverleaf, snowbell, goldenroot, blue moss, starflower, fire mint, river lily, honeywort,
 frost berry, sunthistle, ghost fern""")
COLOURS = words("red, blue, green, yellow, white, black, brown, purple, orange, grey, pink, golden")
MONSTERS = words("troll, dragon, giant, ogre, goblin, sea serpent, stone giant, griffin, witch, ice dragon, swamp monster")
PESTS = words("wolves, goblins, bandits, giant rats, giant spiders, trolls, wild boars, ghosts, skeletons, giant bats")
GAME_PLACES = words("cave, mine, tower, ruined castle, crypt, temple, old mill, graveyard, swamp, sewer, lighthouse, old fort")
TREASURES = words("""crown, sword, shield, chalice, amulet, gem, scroll, sceptre, harp, bow, horn, spellbook, staff, statue,
 helmet, bracelet, dagger, orb""")
TREASURE_LOOKS = words("""golden, silver, lost, ancient, enchanted, ruby, emerald, royal, stolen, sacred, crystal, cursed, old,
 elven, dwarven""")

# Hobbies: (to do, doing)
HOBBIES = [tuple(p.split("/")) for p in words("""
 sing songs/singing songs, climb trees/climbing trees, paint pictures/painting pictures, swim in the river/swimming in the
 river, pick flowers/picking flowers, bake bread/baking bread, tell stories/telling stories, look at the stars/looking at the
 stars, collect stones/collecting stones, dance in the rain/dancing in the rain, run through the grass/running through the
 grass, play hide and seek/playing hide and seek, read old books/reading old books, watch the clouds/watching the clouds,
 build little boats/building little boats, feed the birds/feeding the birds, walk by the water/walking by the water, plant
 seeds/planting seeds, chase butterflies/chasing butterflies, make soup/making soup, help the neighbours/helping the
 neighbours, explore new paths/exploring new paths""")]
# Skills: (base form, -ing form, past form)
SKILLS = [tuple(p.split("/")) for p in words("""
 play the flute/playing the flute/played the flute, ride a horse/riding a horse/rode a horse, juggle/juggling/juggled,
 swim/swimming/swam, skate on the ice/skating on the ice/skated on the ice, shoot a bow/shooting a bow/shot a bow,
 sing/singing/sang, dance/dancing/danced, paint/painting/painted, bake bread/baking bread/baked bread, sail a boat/sailing a
 boat/sailed a boat, climb the high rock/climbing the high rock/climbed the high rock, play the drum/playing the drum/played
 the drum, walk on a rope/walking on a rope/walked on a rope, whistle/whistling/whistled, carve wood/carving wood/carved
 wood""")]
# Frights: (what is heard or seen, what it turns out to be)
FRIGHTS = [tuple(p.split("/")) for p in words("""
 a strange howling/the wind in an old bottle, a tall dark shape/a coat on a hook, two yellow eyes/a pair of fireflies,
 a loud scratching/a baby mouse looking for crumbs, a long white ghost/a sheet that had blown off the line, a deep
 growl/the hungry tummy of a puppy, heavy footsteps/a goat in wooden shoes, a terrible moan/an old gate that needed oil, a
 huge shadow/a moth in front of the lamp, a soft knocking/a branch that tapped on the window, a rattling chain/a lost dog
 on a long lead, a whispering voice/the little stream behind the house""")]
# Troubles on a journey: (what blocks the way, how it is passed)
TROUBLES = [tuple(p.split("/")) for p in [t.strip() for t in """
 a wide river without a bridge/built a small raft from old branches and floated across
 a high wall of thorns/crawled through a tunnel that the rabbits had dug
 a thick fog/followed the sound of the church bell until the air was clear
 a deep hole in the road/laid a fallen tree across it and walked over with great care
 a steep cliff/tied a rope around a strong tree and climbed down slowly
 a field of sticky mud/jumped from stone to stone until the ground was dry again
 a pack of hungry wolves/threw them the bread from the bag and slipped away
 a bridge with broken boards/crossed it on hands and knees, one board at a time
 a dark tunnel/lit a candle and kept one hand on the wall
 a sleeping giant/took off both shoes and tiptoed past his nose
 a crossroads without a sign/looked for the moss on the trees and went north
 a swarm of angry bees/waited in the cold pond until they flew home
 a gate with a rusty lock/rubbed the lock with butter until it turned
 a flock of noisy geese/greeted them so politely that they stepped aside
 a river full of ice/hopped from one block of ice to the next
 a snowstorm/dug a cave in the snow and waited until morning
""".strip().split("\n")]]
# Riddles: (question, answer)
RIDDLES = [tuple(p.split("/")) for p in [t.strip() for t in """
 What has hands but cannot clap?/a clock
 What has teeth but cannot bite?/a comb
 What gets wetter the more it dries?/a towel
 What goes up but never comes down?/your age
 What has a neck but no head?/a bottle
 What can you catch but not throw?/a cold
 What has one eye but cannot see?/a needle
 What runs all day but never gets tired?/a river
 What has many leaves but is not a tree?/a book
 What follows you in the sun and leaves you in the dark?/your shadow
 What grows when you feed it and dies when it drinks?/a fire
 What has roots that nobody sees and is taller than any tree?/a mountain
 What breaks when you say its name?/silence
 What has keys but opens no door?/a piano
 What can fill a whole room but takes no space?/light
 What is full of holes but still holds water?/a sponge
 What flies without wings and cries without eyes?/a cloud
 What do you give away and still keep?/your word
""".strip().split("\n")]]
# Storms: (event, what it does to a weak house)
STORMS = [tuple(p.split("/")) for p in words("""
 a great storm/blew the roof away, heavy rain/washed the walls away, a strong wind/knocked the walls down, a snowstorm/broke
 the roof in two, a flood/carried the door down the river, a whirlwind/lifted the roof into the sky""")]
BUILDS = words("house, hut, tree house, cabin, boat shed, little tower, shelter, cottage, bridge, windmill, hen house")
WEAK_STUFF = words("straw, leaves, dry grass, thin sticks, paper, sand, old boards")
STRONG_STUFF = words("stone, brick, oak logs, good clay, thick wood, solid rock")
FESTIVALS = words("""harvest festival, spring fair, summer feast, winter market, lantern festival, king's birthday, flower
 festival, midsummer dance, apple fair, moon festival""")
PLANTS = words("sunflower, apple tree, pumpkin, rose bush, cherry tree, bean plant, oak tree, pear tree, melon, blue lily")
