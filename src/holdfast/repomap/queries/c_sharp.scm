(class_declaration name: (identifier) @name) @definition
(struct_declaration name: (identifier) @name) @definition
(record_declaration name: (identifier) @name) @definition
(interface_declaration name: (identifier) @name) @definition
(enum_declaration name: (identifier) @name) @definition
(delegate_declaration name: (identifier) @name) @definition
(method_declaration name: (identifier) @name) @definition
(property_declaration name: (identifier) @name) @definition

(invocation_expression function: (identifier) @reference)
(invocation_expression function: (member_access_expression name: (identifier) @reference))
(invocation_expression function: (generic_name (identifier) @reference))
(object_creation_expression type: (identifier) @reference)
(object_creation_expression type: (generic_name (identifier) @reference))
(base_list (identifier) @reference)
(base_list (generic_name (identifier) @reference))
(variable_declaration type: (identifier) @reference)
(parameter type: (identifier) @reference)
(method_declaration returns: (identifier) @reference)
(property_declaration type: (identifier) @reference)
(type_argument_list (identifier) @reference)
((member_access_expression expression: (identifier) @reference) (#match? @reference "^[A-Z]"))
