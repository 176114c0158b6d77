/** The field manager of everything that the Application controller writes. */
export const fieldManager = 'sekisho.dev/application'
