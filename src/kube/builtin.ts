// Kubernetes' own kinds as ResourceTypes: the one place to import them from. Minimal structural types, by area in `builtin/`.
export * from './builtin/access.ts'
export * from './builtin/core.ts'
export * from './builtin/extension.ts'
export * from './builtin/networking.ts'
export * from './builtin/workloads.ts'
