// Package customsql prepares a workload's own SQL (filewise.CustomSQL) for an engine. It divides scripts into
// statements, replaces :NAME by the engine's parameters, and refuses statements that would leave the build's database.
// It does not parse SQL: it only distinguishes code from quoted text and comments.
package customsql
