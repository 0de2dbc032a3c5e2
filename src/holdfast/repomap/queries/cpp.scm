(function_definition declarator: (function_declarator declarator: [(identifier) (field_identifier) (destructor_name)] @name)) @definition
(function_definition declarator: (function_declarator declarator: (qualified_identifier name: (identifier) @name))) @definition
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @definition
(function_definition declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @definition
(declaration declarator: (function_declarator declarator: (identifier) @name)) @definition
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @definition
(class_specifier name: (type_identifier) @name body: (_)) @definition
(struct_specifier name: (type_identifier) @name body: (_)) @definition
(union_specifier name: (type_identifier) @name body: (_)) @definition
(enum_specifier name: (type_identifier) @name body: (_)) @definition
(alias_declaration name: (type_identifier) @name) @definition
(type_definition declarator: (type_identifier) @name) @definition
(namespace_definition name: (namespace_identifier) @name) @definition
(preproc_function_def name: (identifier) @name) @definition

(call_expression function: (identifier) @reference)
(call_expression function: (field_expression field: (field_identifier) @reference))
(call_expression function: (qualified_identifier name: (identifier) @reference))
(call_expression function: (template_function name: (identifier) @reference))
(type_identifier) @reference
