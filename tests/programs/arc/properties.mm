// Properties of every kind: weak, copied, atomic, of the class, read-only outside and writable inside, with own names.
#include "tensor_data.h"

@protocol SessionDelegate <NSObject>
@required
- (void)sessionDidRun:(id)session;
@optional
- (void)session:(id)session failedWith:(NSError* _Nullable)error;
@end

typedef NS_OPTIONS(NSUInteger, SessionOptions) {
  SessionOptionsNone = 0,
  SessionOptionsVerbose = 1 << 0,
  SessionOptionsTimed = 1 << 1,
};

@interface Session : NSObject
@property(class, nonatomic) NSInteger count;
@property(nonatomic, weak, nullable) id<SessionDelegate> delegate;
@property(nonatomic, copy, nonnull) NSString* title;
@property(atomic, strong, nullable) NSArray* results;
@property(nonatomic, readonly, getter=isRunning) BOOL running;
@property(nonatomic) SessionOptions options;
@property(atomic) NSRange range;
@property(nonatomic, copy, nullable) void (^handler)(NSRange);
@property(nonatomic, readonly) double seconds;
- (void)run;
@end

@interface Session ()
@property(nonatomic, readwrite, getter=isRunning) BOOL running;
@end

static NSInteger sessions;

@implementation Session
@synthesize title = _heading;
@dynamic seconds;
+ (NSInteger)count {
  return sessions;
}
+ (void)setCount:(NSInteger)count {
  sessions = count;
}
- (double)seconds {
  return 0.25;
}
- (void)run {
  self.running = YES;
  if (self.handler) self.handler(self.range);
  [self.delegate sessionDidRun:self];
  if ([self.delegate respondsToSelector:@selector(session:failedWith:)]) [self.delegate session:self failedWith:nil];
}
@end

@interface Watcher : NSObject <SessionDelegate>
@property int runs;
@end
@implementation Watcher
- (void)sessionDidRun:(Session*)session {
  CHECK(session.running);
  ++self.runs;
}
@end

int main() {
  run_steps(^{
    Session* session = [Session new];
    NSMutableString* title = [NSMutableString stringWithString:@"first"];
    session.title = title;
    [title appendString:@" changed"];
    CHECK([session.title isEqualToString:@"first"] && !session.running);
    session.options |= SessionOptionsTimed;
    CHECK(session.options == 2);
    session.range = NSMakeRange(3, 4);
    __block NSUInteger end = 0;
    session.handler = ^(NSRange range) {
      end = NSMaxRange(range);
    };
    @autoreleasepool {
      Watcher* watcher = [Watcher new];
      session.delegate = watcher;
      [session run];
      CHECK(watcher.runs == 1 && session.delegate == watcher && end == 7);
      CHECK([watcher conformsToProtocol:@protocol(SessionDelegate)]);
      CHECK(![watcher respondsToSelector:@selector(session:failedWith:)]);
    }
    CHECK(!session.delegate);
    Session.count += 2;
    session.results = @[ @(Session.count) ];
    CHECK([session.results[0] integerValue] % 2 == 0);
    CHECK_NEAR([[session valueForKey:@"seconds"] doubleValue], 0.25);
    [session setValue:@"by key" forKey:@"title"];
    CHECK([[session valueForKey:@"title"] isEqual:@"by key"] && [[session valueForKey:@"running"] boolValue]);
  });
}
