"""Around the lessons: the command that lays them out, translations, the cheat sheet, the magics, what is done so far.

May import every other room.
"""
