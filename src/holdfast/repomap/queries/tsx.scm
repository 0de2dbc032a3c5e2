(class_declaration name: (type_identifier) @name) @definition
(abstract_class_declaration name: (type_identifier) @name) @definition
(interface_declaration name: (type_identifier) @name) @definition
(type_alias_declaration name: (type_identifier) @name) @definition
(enum_declaration name: (identifier) @name) @definition
(internal_module name: (identifier) @name) @definition
(method_definition name: (property_identifier) @name) @definition
(method_signature name: (property_identifier) @name) @definition
(abstract_method_signature name: (property_identifier) @name) @definition
(function_declaration name: (identifier) @name) @definition
(function_signature name: (identifier) @name) @definition
(generator_function_declaration name: (identifier) @name) @definition
(program (lexical_declaration (variable_declarator name: (identifier) @name) @definition))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @definition)))

(call_expression function: (identifier) @reference)
(call_expression function: (member_expression property: (property_identifier) @reference))
(new_expression constructor: (identifier) @reference)
(new_expression constructor: (member_expression property: (property_identifier) @reference))
(type_identifier) @reference
(extends_clause value: (identifier) @reference)
(import_specifier name: (identifier) @reference)
(decorator (identifier) @reference)
(decorator (call_expression function: (identifier) @reference))
((member_expression object: (identifier) @reference) (#match? @reference "^[A-Z]"))
(jsx_opening_element name: (identifier) @reference)
(jsx_self_closing_element name: (identifier) @reference)
