package server

// User is the user and group that a process runs as.
type User struct{ UID, GID uint32 }
