import pyperclip
from PIL import ImageGrab
from pynput.keyboard import Listener

with Listener(on_press=log) as listener:  # HIT[high]
    listener.join()
ImageGrab.grab().save("x.png")  # HIT[medium]
text = pyperclip.paste()  # HIT
