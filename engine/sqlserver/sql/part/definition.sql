CONVERT(nvarchar(100), HASHBYTES('SHA2_256', CONCAT(
    (SELECT o.name, o.type, c.column_id AS id, c.name AS col, c.user_type_id AS kind, c.max_length AS length, c.precision AS digits,
        c.scale AS scale, c.collation_name AS collated, c.is_nullable AS nullable, c.is_identity AS drawn, c.is_computed AS computed,
        c.default_object_id AS value, m.definition AS text
      FROM {{.In}}sys.objects AS o LEFT JOIN {{.In}}sys.columns AS c ON c.object_id = o.object_id
        LEFT JOIN {{.In}}sys.sql_modules AS m ON m.object_id = o.object_id
      WHERE o.is_ms_shipped = 0 AND o.name COLLATE Latin1_General_BIN2 NOT LIKE N'fw[_]churn[_]%'
      ORDER BY o.object_id, c.column_id FOR XML RAW),
    (SELECT i.name, i.type, i.is_unique AS one, i.is_primary_key AS main, i.filter_definition AS filter, k.index_column_id AS id,
        k.column_id AS col, k.key_ordinal AS place, k.is_descending_key AS falling, k.is_included_column AS beside
      FROM {{.In}}sys.objects AS o JOIN {{.In}}sys.indexes AS i ON i.object_id = o.object_id
        JOIN {{.In}}sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
      WHERE o.is_ms_shipped = 0 AND i.is_hypothetical = 0
        AND o.name COLLATE Latin1_General_BIN2 NOT LIKE N'fw[_]churn[_]%'
      ORDER BY o.object_id, i.index_id, k.index_column_id FOR XML RAW))), 2)
