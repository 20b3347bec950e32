// Package installed finds the PostgreSQL of this machine: where its programs are, as whom
// they run, with what environment, and the data directory that builds start from.
package installed
