"""A stand-in for your program: `python app.py M P` sleeps as long as M ranks of P threads might take (a thousandth
of equation 11), and prints its time."""

import sys
import time

m, p = map(int, sys.argv[1:3])
seconds = (1.3 + 370 / (m * p) + 0.8 * p + 2 * m) / 1000
time.sleep(seconds)
print(f"Total time: {seconds:.6f} s")
