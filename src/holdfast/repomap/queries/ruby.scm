(class name: [(constant) @name (scope_resolution name: (constant) @name)]) @definition
(module name: [(constant) @name (scope_resolution name: (constant) @name)]) @definition
(method name: (_) @name) @definition
(singleton_method name: (_) @name) @definition
(program (assignment left: (constant) @name) @definition)

(call method: (identifier) @reference)
(identifier) @reference
(constant) @reference
