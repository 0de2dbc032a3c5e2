(struct_item name: (type_identifier) @name) @definition
(enum_item name: (type_identifier) @name) @definition
(union_item name: (type_identifier) @name) @definition
(type_item name: (type_identifier) @name) @definition
(trait_item name: (type_identifier) @name) @definition
(function_item name: (identifier) @name) @definition
(function_signature_item name: (identifier) @name) @definition
(macro_definition name: (identifier) @name) @definition
(const_item name: (identifier) @name) @definition
(static_item name: (identifier) @name) @definition

(call_expression function: (identifier) @reference)
(call_expression function: (field_expression field: (field_identifier) @reference))
(call_expression function: (scoped_identifier name: (identifier) @reference))
(call_expression function: (generic_function function: (identifier) @reference))
(macro_invocation macro: (identifier) @reference)
(type_identifier) @reference
(scoped_identifier path: (identifier) @reference)
(use_declaration argument: (scoped_identifier name: (identifier) @reference))
(use_list (identifier) @reference)
