(class_definition name: (identifier) @name) @definition
(function_definition name: (identifier) @name) @definition
(module (expression_statement (assignment left: (identifier) @name) @definition))

(call function: (identifier) @reference)
(call function: (attribute attribute: (identifier) @reference))
(type (identifier) @reference)
(type (binary_operator (identifier) @reference))
(generic_type (identifier) @reference)
(class_definition superclasses: (argument_list (identifier) @reference))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @reference)))
(decorator (identifier) @reference)
(import_from_statement name: (dotted_name (identifier) @reference))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @reference)))
((attribute object: (identifier) @reference) (#match? @reference "^[A-Z]"))
((argument_list (identifier) @reference) (#match? @reference "^[A-Z]"))
