package target

import "golang.org/x/sys/unix"

// The requests that read and set a terminal's attributes.
const getTermios, setTermios = unix.TCGETS, unix.TCSETS
