// Package server runs managed servers of any engine. It finds installed binaries, and gives each server a process group
// and its own log file. It has the kernel end a server if Filewise is killed, waits until the server answers, and
// notices if it dies. It takes snapshots of a server's files and resets them, and tracks the builds of an opened
// target. An engine describes its own part in a Control.
package server
