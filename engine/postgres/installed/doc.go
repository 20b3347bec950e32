// Package installed finds the PostgreSQL of this machine. It decides where its programs are, who runs them and with
// what environment, and makes the data directory that builds start from.
package installed
