// The kinds of Kubernetes that we use, as ResourceTypes. Import them from here; the files beside this one group them by area.
export * from './access.ts'
export * from './core.ts'
export * from './extension.ts'
export * from './networking.ts'
export * from './workloads.ts'
