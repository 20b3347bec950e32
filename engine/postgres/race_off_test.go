//go:build !race

package postgres

const underRace = false
