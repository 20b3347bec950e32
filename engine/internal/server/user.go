package server

// User is whom a process runs as.
type User struct{ UID, GID uint32 }
