// Package tdstest is a server of the TDS protocol (MS-TDS 7.4) for tests: it logs
// clients in, takes batches, calls of procedures, bulk loads and attentions, and
// answers what a test tells it to. It executes no SQL, so what passes against it
// is proven of our logic, of the driver and of the protocol, and of nothing that
// SQL Server itself does.
package tdstest
