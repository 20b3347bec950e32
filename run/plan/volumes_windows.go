package plan

const volumeExample = `fast=D:\data`
