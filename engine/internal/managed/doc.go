// Package managed starts, watches and ends the private server processes of
// managed targets, whatever the engine: it finds installed binaries, gives each
// server a process group and a log file of its own, has the kernel end it when
// Filewise is killed, waits until it answers, and knows when it died.
package managed
