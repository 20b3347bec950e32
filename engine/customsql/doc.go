// Package customsql readies the SQL that a workload brings itself (filewise.CustomSQL) for
// an engine: it divides scripts into statements, puts the engine's parameters in the
// place of :NAME, and refuses statements that would leave the build's database. It
// does not parse SQL: it distinguishes code from quoted text and comments, no more.
package customsql
