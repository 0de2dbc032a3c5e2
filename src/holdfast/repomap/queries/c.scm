(function_definition declarator: (function_declarator declarator: (identifier) @name)) @definition
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @definition
(declaration declarator: (function_declarator declarator: (identifier) @name)) @definition
(struct_specifier name: (type_identifier) @name body: (_)) @definition
(union_specifier name: (type_identifier) @name body: (_)) @definition
(enum_specifier name: (type_identifier) @name body: (_)) @definition
(type_definition declarator: (type_identifier) @name) @definition
(preproc_def name: (identifier) @name) @definition
(preproc_function_def name: (identifier) @name) @definition

(call_expression function: (identifier) @reference)
(call_expression function: (field_expression field: (field_identifier) @reference))
(type_identifier) @reference
((identifier) @reference (#match? @reference "^[A-Z][A-Z0-9_]+$"))
