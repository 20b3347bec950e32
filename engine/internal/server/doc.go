// Package server is the life of managed servers, whatever the engine: it finds
// installed binaries, gives each server a process group and a log file of its own,
// has the kernel end it when Filewise is killed, waits until it answers, and notices
// when it died; takes snapshots of its files and resets them; and keeps account of
// the builds of an opened target. An engine describes in a Control what is its own.
package server
