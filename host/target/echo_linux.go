package target

import "golang.org/x/sys/unix"

// getTermios and setTermios are the requests that read and set a terminal's attributes.
const getTermios, setTermios = unix.TCGETS, unix.TCSETS
