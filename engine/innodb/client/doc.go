// Package client turns the address of a server of MariaDB or MySQL into the driver's configuration, and into the
// programs of the products with their arguments.
package client
