import keyboard_layout
from PIL import Image

Image.open("x.png").save("y.png")
keyboard_layout.load("de")
