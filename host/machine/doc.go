// Package machine reads the machine that is measured on: facts for reports, the devices behind volumes, free space.
// Facts leave out the host's name, addresses and users: reports are shown to others, and no verdict depends on them.
package machine
