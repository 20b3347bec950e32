(
    SELECT o.name FROM {{.In}}sys.objects AS o
    WHERE o.is_ms_shipped = 0 AND o.create_date >= (SELECT create_date FROM sys.databases WHERE database_id = {{.ID}})
      AND NOT (o.schema_id = 1 AND (
        o.type = 'U' AND (o.name COLLATE Latin1_General_BIN2 IN ({{.Tables}})
            OR o.name COLLATE Latin1_General_BIN2 LIKE N'fw[_]rows[_][0-9]%' AND SUBSTRING(o.name, 9, 128) NOT LIKE N'%[^0-9]%'
            OR o.name COLLATE Latin1_General_BIN2 LIKE N'fw[_]churn[_][0-9]%' AND SUBSTRING(o.name, 10, 128) NOT LIKE N'%[^0-9]%')
          AND NOT EXISTS (SELECT 1 FROM {{.In}}sys.columns AS c WHERE c.object_id = o.object_id
            AND c.name COLLATE Latin1_General_BIN2 NOT IN ({{.Columns}}))
        OR o.type = 'PK' AND (o.name COLLATE Latin1_General_BIN2 IN ({{.Keys}})
            OR o.name COLLATE Latin1_General_BIN2 LIKE N'fw[_]rows[_]key[_][0-9]%' AND SUBSTRING(o.name, 13, 128) NOT LIKE N'%[^0-9]%')
        OR o.type = 'P' AND (o.name COLLATE Latin1_General_BIN2 IN ({{.Procedures}})
            OR o.name COLLATE Latin1_General_BIN2 LIKE N'fw[_]inserts[_][0-9]%' AND SUBSTRING(o.name, 12, 128) NOT LIKE N'%[^0-9]%')))
    UNION ALL SELECT name FROM {{.In}}sys.schemas WHERE schema_id BETWEEN 5 AND 16383
    UNION ALL SELECT name FROM {{.In}}sys.types WHERE is_user_defined = 1
    UNION ALL SELECT name FROM {{.In}}sys.triggers WHERE parent_class = 0 AND is_ms_shipped = 0
    UNION ALL SELECT name FROM {{.In}}sys.assemblies WHERE is_user_defined = 1
    UNION ALL SELECT name FROM {{.In}}sys.partition_functions
    UNION ALL SELECT name FROM {{.In}}sys.fulltext_catalogs
    UNION ALL SELECT name FROM {{.In}}sys.certificates
    UNION ALL SELECT name FROM {{.In}}sys.symmetric_keys
    UNION ALL SELECT name FROM {{.In}}sys.asymmetric_keys
    UNION ALL SELECT name FROM {{.In}}sys.extended_properties WHERE class = 0 AND name NOT IN (N'filewise', N'filewise made')
    UNION ALL SELECT N'a definition that is not the one that was made' FROM {{.In}}sys.extended_properties AS p
    WHERE p.class = 0 AND p.name = N'filewise made' AND CAST(p.value AS nvarchar(100)) <>
      {{.Definition}}
    UNION ALL SELECT name FROM {{.In}}sys.database_principals
    WHERE principal_id BETWEEN 5 AND 16383 AND create_date >= (SELECT create_date FROM sys.databases WHERE database_id = {{.ID}})
  ) AS strange
