// Package target parses how an external server is given on the command line: its URL, and the password, which does not
// belong in a URL.
//
// No error of this package shows any part of a URL except its scheme, since in a text that cannot be parsed the
// password's end is not known.
package target
