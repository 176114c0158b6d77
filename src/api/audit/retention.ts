// How long every entry of the audit log is kept at least, whoever asks for a cut. The function `audit.prune` of the database
// (prisma/migrations) refuses a younger one too, and must say the same.

export const leastKeptDays = 30
export const leastKeptMilliseconds: number = leastKeptDays * 86_400_000
