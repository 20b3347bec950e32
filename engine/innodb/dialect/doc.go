// Package dialect holds what MySQL and MariaDB share on managed and external servers
// (Host): what a layout comes to in tables and files (Design), the steps of a trial, the
// SQL of workloads with its sessions and queries; the files of the system tablespace,
// what of a tablespace is in use, how much work fills it; and which server settings a
// user may not set on a managed server.
package dialect
