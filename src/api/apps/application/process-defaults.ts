// What a process has that nobody described, such as one that was found in the image. Without imports: command-line tools load it, too.

/** The defaults of the schema of a process. */
export const processDefaults = { replicas: 1, cpu: '50m', memory: '256Mi' } as const
