// Package sqlserver lays databases out on an existing SQL Server: N files of one
// filegroup, which the server fills in proportion to their free space.
//
// No SQL Server can be had where Filewise is made. Every statement is checked
// against Microsoft's own grammar, and the adapter runs over the protocol against
// a server of the tests' own; this proves nothing of how the product behaves.
// If a comment calls on Microsoft's documentation, that is the only witness.
package sqlserver
