-- Scripts that are kept of backups of users' databases.

-- name: restore whole
-- To a new database, whose files lie in the server's usual directory under names
-- of their own; the original's list of files says which there are.
SET NOCOUNT ON;
IF DB_ID(N'$(database)') IS NOT NULL
BEGIN;
  THROW 50001, N'there is a database of that name', 1;
END;
DECLARE @sql nvarchar(max) = N'RESTORE DATABASE ' + QUOTENAME(N'$(database)') + N' FROM
{{- range $i, $s := .Stripes}}{{if $i}},{{end}} DISK = {{double $s}}{{end}} WITH CHECKSUM, RECOVERY
{{- if .BufferCount}}, BUFFERCOUNT = {{.BufferCount}}{{end}}
{{- if .MaxTransferSize}}, MAXTRANSFERSIZE = {{.MaxTransferSize}}{{end}}';
SELECT @sql += N', MOVE N''' + REPLACE(name, N'''', N'''''') + N''' TO N''' + REPLACE(CAST(SERVERPROPERTY(N'InstanceDefaultDataPath')
  AS nvarchar(200)), N'''', N'''''') + N'$(database)_' + CAST(file_id AS nvarchar(10)) + N'.dat'''
FROM sys.master_files WHERE database_id = DB_ID({{literal .Source}});
EXEC sys.sp_executesql @sql;

-- name: agent whole
-- For a step of an Agent job. COPY_ONLY leaves the chain of backups as it is: leave it out for the backups that
-- replace yours. NOINIT overwrites nothing.
SET NOCOUNT ON;
DECLARE @database sysname = {{.Source}};
DECLARE @name nvarchar(200) = {{.Name}} + CONVERT(nvarchar(8), SYSDATETIME(), 112)
  + REPLACE(CONVERT(nvarchar(8), SYSDATETIME(), 108), N':', N'');
{{- range $i, $f := .Files}}
DECLARE @file{{$i}} nvarchar(512) = {{$f}};
{{- end}}
BACKUP DATABASE @database TO
{{- range $i, $f := .Files}}{{if $i}},{{end}}
  DISK = @file{{$i}}
{{- end}}
WITH COPY_ONLY, NOFORMAT, NOINIT, CHECKSUM, STATS = 5
{{- if eq .Compression "on"}}, COMPRESSION{{else if eq .Compression "off"}}, NO_COMPRESSION{{end}}
{{- if .BufferCount}}, BUFFERCOUNT = {{.BufferCount}}{{end}}
{{- if .MaxTransferSize}}, MAXTRANSFERSIZE = {{.MaxTransferSize}}{{end}}
{{- if .BlockSize}}, BLOCKSIZE = {{.BlockSize}}{{end}};
RESTORE VERIFYONLY FROM
{{- range $i, $f := .Files}}{{if $i}},{{end}}
  DISK = @file{{$i}}
{{- end}}
WITH CHECKSUM;
