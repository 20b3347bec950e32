// Package storage measures by fio what the storage under a volume can give. It remembers that with its date, so that
// every throughput is also a share of it. Without fio there is no limit: the report states that, and nothing is
// guessed.
package storage
