(class_declaration name: (name) @name) @definition
(interface_declaration name: (name) @name) @definition
(trait_declaration name: (name) @name) @definition
(enum_declaration name: (name) @name) @definition
(function_definition name: (name) @name) @definition
(method_declaration name: (name) @name) @definition

(function_call_expression function: (name) @reference)
(function_call_expression function: (qualified_name (name) @reference))
(member_call_expression name: (name) @reference)
(scoped_call_expression name: (name) @reference)
(scoped_call_expression scope: (name) @reference)
(object_creation_expression (name) @reference)
(object_creation_expression (qualified_name (name) @reference))
(named_type (name) @reference)
(base_clause (name) @reference)
(class_interface_clause (name) @reference)
(class_constant_access_expression (name) @reference)
