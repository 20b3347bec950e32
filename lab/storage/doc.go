// Package storage measures with fio what the storage of a volume can do. It stores that with its date, so that every
// throughput can also be given as a share of it. Without fio there is no limit: the report states that, and nothing is
// guessed.
package storage
