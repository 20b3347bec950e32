// Package dialect holds what MySQL and MariaDB share on managed and external servers (Host). It resolves layouts into
// tables and files (Design). It has the steps of a trial, and the SQL of workloads with sessions and queries. It reads
// the files of the system tablespace: what is in use, and how much work fills them. It also lists the server settings
// that a user must not set on a managed server.
package dialect
