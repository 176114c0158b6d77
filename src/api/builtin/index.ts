// Kubernetes' own kinds as ResourceTypes: the one place to import them from. Minimal structural types, by area beside this file.
export * from './access.ts'
export * from './core.ts'
export * from './extension.ts'
export * from './networking.ts'
export * from './workloads.ts'
