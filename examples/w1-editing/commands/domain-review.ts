import { reviewAs } from './review.ts';

await reviewAs('domain expert');
