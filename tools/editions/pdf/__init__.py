"""The whole book as one PDF: `make pdf`.

`source` lays the pages of the built site one after the other, `arrange.js`
makes a book of them inside the browser, `printing` prints it, and `finish`
writes what the browser does not know into the file.
"""
